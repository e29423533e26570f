// session.lua in Node, with onnxruntime-node: session.js MODEL TENSORS BATCH SIZE TIMES OUTPUT
'use strict'
const fs = require('fs')
const ort = require('onnxruntime-node')

async function main([model, tensors, batch, size, times, output]) {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const bytes = fs.readFileSync(tensors)
  const shape = [Number(batch), 3, Number(size), Number(size)]
  const elements = shape.reduce((a, b) => a * b)
  const batches = []
  for (let at = 0; at < bytes.length; at += elements * 4) {
    const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + elements * 4))
    batches.push({ image: new ort.Tensor('float32', values, shape) })
  }
  const all = []
  for (const inputs of batches) {
    const { scores } = await session.run(inputs)
    all.push(Buffer.from(scores.data.buffer, scores.data.byteOffset, scores.data.byteLength))
  }
  fs.writeFileSync(output, Buffer.concat(all))
  const wall = process.hrtime.bigint()
  const used = process.cpuUsage()
  for (let i = 0; i < Number(times); i++) {
    for (const inputs of batches) await session.run(inputs)
  }
  const { user, system } = process.cpuUsage(used)
  console.log((Number(process.hrtime.bigint() - wall) / 1e9).toFixed(6), ((user + system) / 1e6).toFixed(6))
}

main(process.argv.slice(2))
