/** Token lists (format of tokenlists.org): logos of tokens whose own metadata has none. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type ChainFacts, normalAddress } from '../domain/chains.js'

const TokenList = Type.Object({
  tokens: Type.Array(
    Type.Object({
      chainId: Type.Integer(),
      address: Type.String({ minLength: 1 }),
      logoURI: Type.Optional(Type.String()),
    }),
  ),
})

/** The chain id that lists use for Solana. */
const SOLANA_LIST_ID = 101

/** The chains with logos from the lists; the first list that has a token wins. */
export function withLogos(
  chains: ReadonlyMap<string, ChainFacts>,
  paths: readonly string[],
  cwd: string,
  problems: string[],
): Map<string, ChainFacts> {
  const logos = new Map<string, Map<string, string>>()
  for (const path of paths) {
    for (const { chainId, address, logoURI } of readList(resolve(cwd, path), path, problems)) {
      for (const facts of chains.values()) {
        if (logoURI === undefined || listIdOf(facts) !== chainId) continue
        const known = logos.get(facts.chain) ?? new Map<string, string>()
        logos.set(facts.chain, known)
        const token = normalAddress(facts.family, address)
        if (!known.has(token)) known.set(token, logoURI)
      }
    }
  }
  return new Map(
    [...chains].map(([chain, facts]) => {
      const found = logos.get(chain)
      return [chain, found === undefined ? facts : { ...facts, logos: found }]
    }),
  )
}

function listIdOf({ family, chainId }: ChainFacts): number | undefined {
  return chainId ?? (family === 'solana' ? SOLANA_LIST_ID : undefined)
}

function readList(file: string, path: string, problems: string[]): Static<typeof TokenList>['tokens'] {
  try {
    const list: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (Value.Check(TokenList, list)) return list.tokens
    problems.push(`"token_lists": ${path} is not a token list (tokens[] with chainId, address and logoURI)`)
  } catch (cause) {
    problems.push(`"token_lists": ${path} cannot be read: ${(cause as Error).message.split('\n')[0]}`)
  }
  return []
}
