// encode.cjs FILE: the tokens of npm's @huggingface/tokenizers. Each line of FILE is {tokenizer, texts}; each line that
// it prints is a list of lists of ids. NODE_PATH leads to the package. With a second argument, prints
// texts per second of CPU time.
const fs = require("fs");
const { Tokenizer } = require("@huggingface/tokenizers");

const lines = fs.readFileSync(process.argv[2], "utf8").split("\n").filter((line) => line);
let texts = 0;
let time = 0;
const out = [];
for (const line of lines) {
  const one = JSON.parse(line);
  const tokenizer = new Tokenizer(one.tokenizer, {});
  const start = process.cpuUsage();
  const ids = one.texts.map((text) => tokenizer.encode(text).ids);
  const used = process.cpuUsage(start);
  time += (used.user + used.system) / 1e6;
  texts += ids.length;
  out.push(JSON.stringify(ids));
}
console.log(process.argv[3] ? Math.round(texts / time) : out.join("\n"));
