// Sums the trades of each pair from the topic dex.trades.<chain>, reorgs taken out: one JSON line per pair.
// Usage: npm install kafkajs avsc && node examples/volumes.mjs localhost:9092 eth [topic-prefix]
// The topic needs `topics.trades: true`. Without SCHEMA_REGISTRY_URL the schemas are in the topic dex.schemas.
import avsc from 'avsc'
import { Kafka, logLevel } from 'kafkajs'

const [brokers, chain = 'eth', prefix = ''] = process.argv.slice(2)
const registry = process.env.SCHEMA_REGISTRY_URL ?? ''
if (brokers === undefined) throw new Error('Usage: node examples/volumes.mjs <brokers> [chain] [prefix]')
const kafka = new Kafka({ clientId: 'dextape-example', brokers: brokers.split(','), logLevel: logLevel.ERROR })

/** Calls back with each record up to the topic's current end. A topic is one partition. */
async function readTopic(topic, onRecord) {
  const admin = kafka.admin()
  await admin.connect()
  const [{ low, high }] = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  if (low === high) return
  const consumer = kafka.consumer({ groupId: `dextape-example-${process.pid}` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((resolve, reject) => {
    consumer.on('consumer.crash', ({ payload }) => reject(payload.error))
    const eachMessage = async ({ message }) => {
      await onRecord(message.value, Number(message.offset))
      if (Number(message.offset) >= Number(high) - 1) resolve()
    }
    consumer.run({ autoCommit: false, eachMessage }).catch(reject)
  })
  await consumer.disconnect()
}

// A record is a zero byte, the schema's id in four bytes, and Avro binary.
const schemas = new Map()
if (registry === '')
  await readTopic(`${prefix}dex.schemas`, (value, offset) => schemas.set(offset + 1, JSON.parse(value).schema))
const types = new Map()
async function typeOf(id) {
  if (!types.has(id)) {
    const schema = schemas.get(id) ?? JSON.parse((await (await fetch(`${registry}/schemas/ids/${id}`)).json()).schema)
    types.set(id, avsc.Type.forSchema(schema))
  }
  return types.get(id)
}

/** Trades of each pair by id: a later epoch repeats them with other numbers. */
const pairs = new Map()
let last = { epoch: 0, seq: 0, n: -1 }
/** After a crash of its writer records of the same epoch repeat. */
const isRepeated = ({ epoch, seq, n }) =>
  epoch < last.epoch || (epoch === last.epoch && (seq < last.seq || (seq === last.seq && n <= last.n)))

await readTopic(`${prefix}dex.trades.${chain}`, async (value) => {
  const trade = (await typeOf(value.readUInt32BE(1))).fromBuffer(value.subarray(5))
  if (isRepeated(trade)) return
  last = trade
  const trades = pairs.get(trade.pair) ?? new Map()
  pairs.set(trade.pair, trades)
  if (trade.op === 'retract') trades.delete(trade.id)
  else trades.set(trade.id, trade.amount_usd ?? 0)
})

for (const [pair, trades] of [...pairs].sort(([a], [b]) => (a < b ? -1 : 1))) {
  if (trades.size === 0) continue
  const usd = [...trades.values()].reduce((sum, amount) => sum + amount, 0)
  console.log(JSON.stringify({ pair, trades: trades.size, usd }))
}
