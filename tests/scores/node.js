// ours.lua in Node, with onnxruntime-node: node.js FOLDER. Reads the inputs that ours.lua has
// written, and writes FOLDER/CASE.OUTPUT.node.
'use strict'
const fs = require('fs')
const ort = require('onnxruntime-node')

const ARRAYS = { float32: Float32Array }

function input(folder, { name: of }, { name, type, shape }) {
  const bytes = fs.readFileSync(`${folder}/${of}.${name}`)
  if (type === 'string') return new ort.Tensor('string', bytes.toString().split('\0').slice(0, -1), shape)
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  return new ort.Tensor(type, new ARRAYS[type](own), shape)
}

function elements({ type, data }) {
  if (type === 'string') return Buffer.from(data.map((text) => text + '\0').join(''))
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}

async function main(folder) {
  for (const one of JSON.parse(fs.readFileSync(`${folder}/cases.json`))) {
    const session = await ort.InferenceSession.create(one.model, { intraOpNumThreads: 1, interOpNumThreads: 1 })
    const inputs = {}
    for (const i of one.inputs) inputs[i.name] = input(folder, one, i)
    const outputs = await session.run(inputs)
    for (const name of session.outputNames) {
      const head = Buffer.from(`${outputs[name].type} ${outputs[name].dims.join(' ')}\n`)
      fs.writeFileSync(`${folder}/${one.name}.${name}.node`, Buffer.concat([head, elements(outputs[name])]))
    }
  }
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exit(1)
})
