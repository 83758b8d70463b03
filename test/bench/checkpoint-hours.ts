/** The CPU of writing a checkpoint while hours are added, beside the same values in an LMDB table as it comes, by their keys. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { openStateStore, pack, padded, type StateChange } from '../../services/aggregate/checkpoint/state-store.js'
import { writeTogether } from '../../services/aggregate/checkpoint/write-together.js'
import { MAP_BYTES } from '../../services/core/log/lmdb-tables.js'
import { createRandom } from '../rig/market/random.js'
import { measure, printTable } from './measure.js'

const OWNERS = 12_000
const HOURS = 4
const CHECKPOINTS_PER_HOUR = 4
/** Of the owners, how many trade between two checkpoints. */
const TRADING = 0.8
const LIMIT = 0.7

export async function benchCheckpointHours(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-checkpoints-'))
  const store = await openStateStore(join(folder, 'state'))
  const root = open<Buffer, string>({
    ...{ path: join(folder, 'bare'), noSubdir: false, overlappingSync: false, encoding: 'binary', mapSize: MAP_BYTES },
  })
  const bare = root.openDB<Buffer, string>({ name: 'values', encoding: 'binary', compression: true })
  const random = createRandom(7)
  const rows: [string, number, number, number][] = []
  for (let hour = 0; hour < HOURS; hour += 1) {
    let [bareS, storeS] = [0, 0]
    for (let nth = 0; nth < CHECKPOINTS_PER_HOUR; nth += 1) {
      const changes = [...changesOf(hour, nth, () => random.next())]
      bareS += (await measure('bare', () => writeTogether(bare, changes))).cpuS
      storeS += (await measure('store', () => store.commit(changes))).cpuS
    }
    rows.push([`hour ${hour + 1}`, bareS, storeS, storeS / bareS])
  }
  await store.close()
  await root.close()
  rmSync(folder, { recursive: true })
  const title = `Checkpoints of ${OWNERS.toLocaleString('en')} pairs, ${CHECKPOINTS_PER_HOUR} an hour: seconds of CPU`
  printTable(title, [['', 'by pair, bare', 'by time', 'ratio'], ...rows])
  const ratio = rows.at(-1)?.[3] ?? Number.POSITIVE_INFINITY
  console.log(`  ${ratio.toPrecision(3)} in the last hour (limit ${LIMIT})`)
  return ratio < LIMIT
}

/** Sizes are those of six hours of 20,000 pools. */
function* changesOf(hour: number, nth: number, random: () => number): Generator<StateChange> {
  const grown = (nth + 1) / CHECKPOINTS_PER_HOUR
  const value = (numbers: number) =>
    pack(
      null,
      Float64Array.from({ length: numbers }, (_, n) => (n & 1 ? n : random())),
    )
  for (let id = 0; id < OWNERS; id += 1) {
    if (random() > TRADING) continue
    const owner = `p/${padded(id)}`
    yield { key: owner, value: value(40) }
    yield { key: `r/${owner}`, value: value(170) }
    yield { key: `v/${owner}`, value: value(40 + 8 * hour) }
    yield { key: `b/${owner}/seconds/${padded(hour * 12 + nth * 3)}`, value: value(60) }
    yield { key: `b/${owner}/minutes/${padded(hour)}`, value: value(10 + 350 * grown * random()) }
    yield { key: `b/${owner}/hours/${padded(0)}`, value: value(15 * (hour + 1)) }
    yield { key: `w/${owner}/${padded(hour * 6 + nth)}`, value: value(50) }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchCheckpointHours()) ? 0 : 1
