/** An epoch is one way of folding a history. Other rules, money tokens or history give other numbers: a new epoch. */
import { createHash } from 'node:crypto'
import type { ChainFacts } from '../core/domain/chains.js'
import type { Codec } from '../core/log/codec.js'
import { type EventLog, updatesTopic } from '../core/log/port.js'
import { lastRecord } from '../core/log/topic-records.js'

/** Raised with every change of the fold's rules that changes a number. */
const FOLD_RULES = 5

/** The first generation is omitted, so that histories from before generations existed keep their epoch. */
export function foldFingerprint(
  { family, anchor, stables, native, majors }: ChainFacts,
  maxTimeBackS: number,
  generation = 1,
): string {
  const money = { family, anchor, stables: [...stables].sort(), native, majors: [...majors].sort() }
  return createHash('sha256')
    .update(JSON.stringify({ rules: FOLD_RULES, money, maxTimeBackS, ...(generation === 1 ? {} : { generation }) }))
    .digest('hex')
    .slice(0, 16)
}

/** The newest complete update in the log, to continue after its seq; undefined when there is none. */
export async function lastUpdate(
  log: EventLog,
  codec: Codec,
  chain: string,
): Promise<{ epoch: number; seq: number } | undefined> {
  const last = await lastRecord(log, codec, updatesTopic(chain))
  if (last?.kind !== 'update') return undefined
  const { epoch, seq, part, last_part: lastPart } = last.update
  return { epoch, seq: part === lastPart ? seq : seq - 1 }
}
