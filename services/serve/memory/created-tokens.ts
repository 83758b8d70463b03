/** Tokens by who created their contract, as ingest found it. */
import type { TokenState } from './token-state.js'

export interface CreatedTokens {
  put(token: TokenState, known: TokenState | undefined): void
  drop(token: TokenState): void
  by(creator: string): Iterable<string>
  clear(): void
}

const CREATOR = /"creator_address":"([^"]+)"/

export function createCreatedTokens(): CreatedTokens {
  const byCreator = new Map<string, Set<string>>()
  function drop({ token, info }: TokenState): void {
    const creator = creatorIn(info.risk)
    const tokens = creator === null ? undefined : byCreator.get(creator)
    tokens?.delete(token)
    if (creator !== null && tokens?.size === 0) byCreator.delete(creator)
  }
  return {
    put(token, known) {
      // Most updates of a token leave its risk as it is.
      if (known?.info.risk === token.info.risk) return
      if (known !== undefined) drop(known)
      const creator = creatorIn(token.info.risk)
      if (creator === null) return
      const tokens = byCreator.get(creator)
      if (tokens === undefined) byCreator.set(creator, new Set([token.token]))
      else tokens.add(token.token)
    },
    drop,
    by: (creator) => byCreator.get(creator) ?? [],
    clear: () => byCreator.clear(),
  }
}

/** Without parsing all of it: called for every change of a token's risk. */
export const creatorIn = (risk: string | null): string | null =>
  risk === null ? null : (CREATOR.exec(risk)?.[1] ?? null)
