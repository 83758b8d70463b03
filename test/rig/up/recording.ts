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

/** Each chain in its order, all of them spread over the whole. */
function interleave(chains: readonly (readonly RecordingLine[])[]): RecordingLine[] {
  return chains
    .flatMap((lines) => lines.map((line, at) => ({ line, place: (at + 1) / lines.length })))
    .sort((a, b) => a.place - b.place)
    .map(({ line }) => line)
}

export const chainsOf = (lines: readonly RecordingLine[]): string[] => [...new Set(lines.map(({ chain }) => chain))]

export function tapeWithoutOrphans(lines: readonly RecordingLine[]): RecordingLine[] {
  const kept = new Set(chainsOf(lines).flatMap((chain) => withoutOrphans(lines.filter((line) => line.chain === chain))))
  return lines.filter((line) => kept.has(line))
}

/** A line that applies makes one update, so this is the seq each chain ends at. */
export function seqsOf(lines: readonly RecordingLine[]): Map<string, number> {
  return new Map(chainsOf(lines).map((chain) => [chain, lines.filter((line) => line.chain === chain).length]))
}

/** How many blocks each retract takes back, by the place of its line. */
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

/** Packed when the name ends in .gz. */
export function writeTape(path: string, lines: readonly RecordingLine[]): string {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  writeFileSync(path, path.endsWith('.gz') ? gzipSync(text) : text)
  return path
}
