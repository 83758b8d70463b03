/** Reads dead letters through `dextape dead`. */
import { type HereOptions, runHere } from './command-here.js'

export type ListedLetter = {
  offset: number
  chain: string
  reason: string
  detail: string
  source: string
  block_number: number | null
  position: string | null
}

async function lines(args: readonly string[], options: HereOptions): Promise<string[]> {
  const { code, out, err } = await runHere(['dead', ...args], options)
  if (code !== 0) throw new Error(`dextape dead ${args.join(' ')} ended with ${code}: ${err}`)
  return out.split('\n').filter((line) => line !== '')
}

/** Number of dead letters by reason. */
export async function deadCounts(chain: string, options: HereOptions): Promise<Record<string, number>> {
  const rows = await lines(['ls', chain, '--json'], options)
  const parsed = rows.map((row) => JSON.parse(row) as { reason: string; letters: number })
  return Object.fromEntries(parsed.map(({ reason, letters }) => [reason, letters]))
}

export async function deadLetters(chain: string, options: HereOptions): Promise<ListedLetter[]> {
  return (await lines(['ls', chain, '--letters', '1000', '--json'], options)).map(
    (row) => JSON.parse(row) as ListedLetter,
  )
}

export async function rawLetter(chain: string, offset: number, options: HereOptions): Promise<string> {
  return (await runHere(['dead', 'show', chain, String(offset), '--raw'], options)).out
}

export async function printLetter(chain: string, offset: number, options: HereOptions): Promise<string> {
  return (await runHere(['dead', 'show', chain, String(offset)], options)).out
}
