// Prints the swaps of the busiest pair of a chain as they happen, through restarts of the server.
// Usage: DEXTAPE_API_KEY=… node examples/stream.mjs [chain] [url]
// In a project of your own: npm install @dextape/client, and import it by that name.
import { createClient } from '../clients/typescript/dist/index.js'

const [chain = 'eth', url = 'http://127.0.0.1:8080'] = process.argv.slice(2)
const client = createClient({
  url,
  key: process.env.DEXTAPE_API_KEY ?? '',
  onRetry: (error, delayMs) => console.error(`${error.message} Next attempt in ${Math.round(delayMs)} ms.`),
})

const { tokens } = await client.tokensTrending({ chain, page_size: 1 })
const [busiest] = tokens
if (busiest === undefined) throw new Error(`No token has traded on ${chain} yet. Try again in a minute.`)
console.error(`${busiest.symbol}: pair ${busiest.main_pair} on ${chain}`)

process.once('SIGINT', () => client.close())
for await (const item of client.subscribe(['tx', busiest.main_pair, chain])) {
  if (item.topic === 'tx') {
    const { time, direction, amount_usd, from_symbol, to_symbol, wallet_address } = item.tx
    console.log(
      new Date(time * 1000).toISOString(),
      direction,
      amount_usd,
      `${from_symbol}→${to_symbol}`,
      wallet_address,
    )
  } else if (item.topic === 'retract') console.log('reorg: these never happened', ...item.ids)
  else if (item.topic === 'refill') console.log(`read ${item.items.length} missed swaps by REST`)
  else console.log(item)
}
