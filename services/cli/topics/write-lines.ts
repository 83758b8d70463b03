/** Writes lines or bytes to a file or to stdout, compressed with --gzip or where the file name ends in .gz. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ConfigError } from '../../core/domain/errors.js'
import type { World } from '../context.js'

export type Target = { out?: string; gzip?: boolean }

export async function writeLines(
  world: World,
  lines: AsyncIterable<string | Buffer>,
  { out, gzip }: Target,
): Promise<void> {
  const target = await openTarget(world, out)
  const end = { end: target.owned }
  const isCompressed = gzip === true || out?.endsWith('.gz') === true
  if (isCompressed) await pipeline(Readable.from(lines), createGzip(), target.stream, end)
  else await pipeline(Readable.from(lines), target.stream, end)
}

async function openTarget(world: World, out: string | undefined): Promise<{ stream: Writable; owned: boolean }> {
  if (out === undefined) return { stream: world.stdout, owned: false }
  const stream = createWriteStream(resolve(world.cwd, out))
  try {
    await once(stream, 'open')
  } catch (cause) {
    throw new ConfigError({
      code: 'out_unwritable',
      what: `Cannot write ${out}: ${(cause as Error).message}`,
      fix: 'Name another file with --out.',
      cause,
    })
  }
  return { stream, owned: true }
}
