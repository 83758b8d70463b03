/** Opens a moving chain instead of nodes, in whichever thread reads. */
import { readFileSync } from 'node:fs'
import type { OpenChain } from '../../../services/processes/chain-sources/open-chain.js'
import { openMovingChain, readLines } from './moving-chain.js'

/** `startedMs`: when the first line happens; `lineMs`: time between lines. */
export type ProcessPlan = { tape: string; startedMs: number; lineMs: number }

/** Names the file with the plan; threads share the environment. */
export const PLAN_VARIABLE = 'MOVING_CHAIN_PLAN'

export const openChain: OpenChain = async ({ config: { chain, start }, facts: { family } }) => {
  const { tape, startedMs, lineMs } = JSON.parse(readFileSync(process.env[PLAN_VARIABLE] ?? '', 'utf8')) as ProcessPlan
  const lines = readLines(tape).filter((line) => line.chain === chain)
  const trueLines = () => Math.floor((Date.now() - startedMs) / lineMs)
  return openMovingChain({ lines, family, trueLines, start }, `moving:${chain}`)
}
