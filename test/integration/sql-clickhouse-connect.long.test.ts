/** ClickHouse's own Python client on `/clickhouse/`: it connects, reads rows and frames, and is told why it may not write. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { KEY, startUp, type Up } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { pythonTools, run } from '../rig/python/venv.js'

const PROGRAM = `
import json, sys
import clickhouse_connect
from clickhouse_connect.driver.exceptions import DatabaseError

client = clickhouse_connect.get_client(
    host='127.0.0.1', port=int(sys.argv[1]), username='me', password=sys.argv[2], proxy_path='/clickhouse')
rows = client.query('SELECT side, count() FROM trades GROUP BY side ORDER BY side').result_rows
bound = client.query('SELECT count() FROM trades WHERE chain = {chain:String}', parameters={'chain': 'eth'}).result_rows
frame = client.query_df('SELECT time, close_usd, interval FROM candles ORDER BY time LIMIT 5')
views = client.query('SELECT name FROM system.tables ORDER BY name').result_columns[0]

def refusal(run):
    try:
        run()
    except DatabaseError as error:
        return 'is not allowed' in str(error)

print(json.dumps({
    'trades': sum(count for _, count in rows), 'bound': bound[0][0], 'frame': [len(frame), list(frame.columns)],
    'views': list(views),
    'refused': [refusal(lambda: client.query('SELECT * FROM trade_rows')), refusal(lambda: client.command('DROP TABLE trade_rows'))],
}))
`

let up: Up
let python: string
const lines = generateRecording({ seed: 33, chain: 'eth', blocks: 40 })

beforeAll(async () => {
  python = join(await pythonTools('clickhouse-connect'), 'python')
  const folder = scratchFolder()
  up = await startUp({ folder, events: writeRecording(folder, 'market.jsonl', lines), chains: [marketMoney('eth')] })
  await up.applied('eth', lines.length)
}, 600_000)
afterAll(async () => {
  await up?.stop()
  removeScratchFolders()
})

test('clickhouse-connect reads rows and frames', async () => {
  const { body } = await up.post('/v2/sql', { query: 'SELECT count() AS n FROM trades' })
  const trades = Number((body as { data: { n: string }[] }).data[0]?.n)
  expect(trades).toBeGreaterThan(0)
  const { code, out } = await run(python, ['-c', PROGRAM, new URL(up.restUrl).port, KEY])
  expect({ code, out: code === 0 ? JSON.parse(out) : out }).toEqual({
    code: 0,
    out: {
      ...{ trades, bound: trades, frame: [5, ['time', 'close_usd', 'interval']] },
      views: [
        ...[
          'candles',
          'holder_counts',
          'holders',
          'liquidity',
          'main_pairs',
          'pair_history',
          'pairs',
          'positions',
          'tokens',
          'trades',
        ],
        'wallet_trades',
      ],
      refused: [true, true],
    },
  })
}, 120_000)
