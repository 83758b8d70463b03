/** Random damage of a data directory: bytes flipped, a file cut or removed, a folder removed. */
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { walkLmdbFile } from '../../services/core/log/lmdb-file.js'
import type { Random } from './market/random.js'
import { filesOf, filesOfParts } from './store-parts.js'

export type DamageDone = { what: string; part: 'log' | 'state' | 'sources' | 'store'; file: string }

/** Positions of readers in the log are written again each second: they need no repair. */
const NOT_CHECKED = 'groups'

export function damageAtRandom(dataDir: string, random: Random): DamageDone {
  const part = random.pick(['log', 'log', 'state', 'store', 'store', 'sources'] as const)
  const all = filesOf(join(dataDir, part))
  const files = part === 'store' ? filesOfParts(all) : all.filter((path) => path.endsWith('.mdb'))
  const file = random.pick(files.filter((path) => !path.endsWith('lock.mdb') && statSync(path).size > 0))
  const kind = random.weighted([
    [6, 'flip'],
    [3, 'cut'],
    [2, 'remove'],
    [1, 'remove folder'],
  ] as const)
  const { size } = statSync(file)
  const name = relative(dataDir, file)
  if (kind === 'cut') {
    const bytes = random.int(0, size - 1)
    truncateSync(file, bytes)
    return { what: `${name} cut to ${bytes} of ${size} bytes`, part, file }
  }
  if (kind === 'flip') {
    const at = random.int(0, size - 1)
    const bytes = readFileSync(file)
    for (let one = at; one < Math.min(size, at + random.int(1, 32)); one++)
      bytes[one] = (bytes[one] ?? 0) ^ random.int(1, 255)
    writeFileSync(file, bytes)
    return { what: `${name} changed at byte ${at}`, part, file }
  }
  rmSync(kind === 'remove' ? file : dirname(file), { recursive: true })
  return { what: `${name}: ${kind}`, part, file }
}

/** Whether the damage changed anything that is read, by comparison with an undamaged copy. */
export function isUsedByteChanged({ part, file }: DamageDone, intact: string): boolean {
  // Without the folder it is a directory of imported blocks: the sources resume after the last one.
  if (part === 'sources' && !existsSync(dirname(file))) return false
  if (!existsSync(file)) return true
  if (part === 'store') return !readFileSync(file).equals(readFileSync(intact))
  return contentsOf(file) !== contentsOf(intact)
}

function contentsOf(file: string): string {
  const entries: string[] = []
  const { problems } = walkLmdbFile(file, ({ table, key, value }) => {
    if (table !== NOT_CHECKED) entries.push(`${table} ${key.toString('hex')} ${value.toString('base64')}`)
  })
  return [...problems.map(({ what }) => what), ...entries].join('\n')
}
