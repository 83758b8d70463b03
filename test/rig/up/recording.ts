/** Recordings of several chains in one file. */
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { generateRecording, type MarketOptions, withoutOrphans } from '../market/generate.js'
import { isRetract, type RecordingLine } from '../reference/lines.js'

export type TapePlan = { seed: number; chains: readonly string[]; blocksPerChain: number; options?: MarketOptions }

export function generateTape({ seed, chains, blocksPerChain, options }: TapePlan): RecordingLine[] {
  return interleave(
    chains.map((chain, at) =>
      generateRecording({
        seed: seed + at,
        chain,
        blocks: blocksPerChain,
        ...(options === undefined ? {} : { options }),
      }),
    ),
  )
}

/** Merges chains by chain time with each chain in order, so that a paced run does not jump between their clocks. */
export function interleave(chains: readonly (readonly RecordingLine[])[]): RecordingLine[] {
  return chains
    .flatMap((lines) => {
      let nowS = 0
      return lines.map((line) => {
        if (!isRetract(line)) nowS = Math.max(nowS, line.time)
        return { line, nowS }
      })
    })
    .sort((a, b) => a.nowS - b.nowS)
    .map(({ line }) => line)
}

export const chainsOf = (lines: readonly RecordingLine[]): string[] => [...new Set(lines.map(({ chain }) => chain))]

export function tapeWithoutOrphans(lines: readonly RecordingLine[]): RecordingLine[] {
  const kept = new Set(chainsOf(lines).flatMap((chain) => withoutOrphans(lines.filter((line) => line.chain === chain))))
  return lines.filter((line) => kept.has(line))
}

/** The final seq of each chain: every line that applies makes one update. */
export function seqsOf(lines: readonly RecordingLine[]): Map<string, number> {
  return new Map(chainsOf(lines).map((chain) => [chain, lines.filter((line) => line.chain === chain).length]))
}

/** Number of blocks each retract removes, by line position. */
export function retractDepths(lines: readonly RecordingLine[]): Map<number, number> {
  const depths = new Map<number, number>()
  const applied = new Map<string, string[]>()
  for (const [at, line] of lines.entries()) {
    const hashes = applied.get(line.chain) ?? []
    applied.set(line.chain, hashes)
    if (!isRetract(line)) hashes.push(line.hash)
    else depths.set(at, hashes.splice(hashes.indexOf(line.to_hash) + 1).length)
  }
  return depths
}

/** Compressed if the name ends in .gz. */
export function writeTape(path: string, lines: readonly RecordingLine[]): string {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  writeFileSync(path, path.endsWith('.gz') ? gzipSync(text) : text)
  return path
}

/** A longer silence is skipped by the next run, since the first line of a run is due at once. */
const LONGEST_GAP_S = 60

/** The speed at which these lines take about `seconds`, not counting long silences. */
export function speedFor(lines: readonly RecordingLine[], seconds: number): string {
  let [totalS, nowS] = [0, 0]
  for (const line of lines) {
    if (isRetract(line) || line.time <= nowS) continue
    totalS += nowS === 0 ? 0 : Math.min(LONGEST_GAP_S, line.time - nowS)
    nowS = line.time
  }
  return String(Math.max(1, Math.round(totalS / seconds)))
}
