/**
 * Whether a fold with other money may continue from a checkpoint. Money matters by the rank of a token, which is found when the
 * token is first seen: if no known token has another rank now, the fold of the whole history would end in the same state.
 */
import type { ChainFacts } from '../../core/domain/chains.js'
import { rankOf, withMoney } from '../../core/domain/money.js'
import { foldFingerprint } from '../epoch.js'
import { TOKEN } from '../state/tokens.js'
import type { Meta } from './state-image.js'
import { type StateStore, unpack } from './state-store.js'

export type WantedFold = { facts: ChainFacts; maxTimeBackS: number; generation: number }

/** Why not; undefined if it may. */
export function whyOtherFold(
  store: StateStore,
  meta: Pick<Meta, 'fingerprint' | 'money'>,
  { facts, maxTimeBackS, generation }: WantedFold,
): string | undefined {
  const printOf = (one: ChainFacts) => foldFingerprint(one, maxTimeBackS, generation)
  if (meta.fingerprint === printOf(facts)) return undefined
  if (meta.money === undefined || meta.fingerprint !== printOf(withMoney(facts, meta.money)))
    return 'its rules or its generation have changed'
  for (const { value } of store.entries('t/')) {
    const { fields, numbers } = unpack<{ address?: string }>(value)
    const { address } = fields
    if (address !== undefined && numbers[TOKEN.rank] !== rankOf(address, facts))
      return `the chain has traded ${address}, whose place among the money tokens has changed`
  }
  return undefined
}
