/** `npm run load`: 2,000 sockets with 20 subscriptions each, while the simulator makes 2,000 swaps per second. */
import { printTable } from '../measure.js'
import { runSockets } from './run.js'

const [sockets = 2000, swapsPerS = 2000, seconds = 30, subscriptionsEach = 20] = process.argv.slice(2).map(Number)
const onProgress = (line: string) => console.error(line)
const result = await runSockets({ sockets, subscriptionsEach, swapsPerS, seconds, seed: 1, onProgress })
const { pushes, pushesPerS, swaps, lost, twice, disordered, undue, notices, closed, lagS, examples } = result

printTable(`${sockets} sockets × ${subscriptionsEach} subscriptions, ${swapsPerS} swaps/s for ${seconds} s`, [
  ['swaps', swaps],
  ['pushes received', pushes],
  ['pushes/s', pushesPerS],
  ['lag of the slowest chain, s', lagS],
  ['lost', lost],
  ['twice', twice],
  ['out of order', disordered],
  ['unexpected', undue],
  ['sockets closed', closed],
  ['notices', notices.length],
])
for (const line of [...examples, ...notices.slice(0, 5)]) console.log(`  ${line.slice(0, 300)}`)
const isRight = lost + twice + disordered + undue + closed + notices.length === 0 && pushes > 0
process.exitCode = isRight ? 0 : 1
