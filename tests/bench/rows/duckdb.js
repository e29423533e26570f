// The same in DuckDB, with two threads: duckdb.js MODULES sum|score TABLE OUT
const { createRequire } = require('module');

const QUERIES = {
  sum: `SELECT store, sum(price) AS price, sum(tax) AS tax FROM table_in GROUP BY store ORDER BY store`,
  score: `SELECT id, price * quantity + tax AS score FROM table_in`,
};

async function main(modules, job, table, out) {
  const { DuckDBInstance } = createRequire(modules + '/')('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const query = QUERIES[job].replace('table_in', `read_csv('${table}')`);
  await connection.run(`SET preserve_insertion_order = false`);
  await connection.run(`COPY (${query}) TO '${out}' (HEADER false)`);
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
