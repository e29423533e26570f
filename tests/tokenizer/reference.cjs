// reference.cjs FILE: the same as encode.cjs, by npm's package "tokenizers", which is the one in Rust.
const fs = require("fs");
const { Tokenizer } = require("tokenizers");

async function main() {
  for (const line of fs.readFileSync(process.argv[2], "utf8").split("\n").filter((line) => line)) {
    const one = JSON.parse(line);
    const tokenizer = Tokenizer.fromString(JSON.stringify(one.tokenizer));
    const rows = [];
    for (const text of one.texts) {
      rows.push(Array.from((await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds()));
    }
    console.log(JSON.stringify(rows));
  }
}
main();
