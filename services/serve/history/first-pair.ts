import { type ServedChain, targetToken } from '../memory/served-chain.js'

/** The first pair that a token was the target of; of equal age by address. */
export function firstPair({ targetPairs, pairs }: ServedChain, token: string): string | undefined {
  let first: { pair: string; createdAtS: number } | undefined
  for (const address of targetPairs.of(token)) {
    const info = pairs.get(address)?.info
    if (info === undefined || targetToken(info) !== token) continue
    const [createdAtS, before] = [info.created_at, first]
    const isEarlier =
      before === undefined ||
      createdAtS < before.createdAtS ||
      (createdAtS === before.createdAtS && address < before.pair)
    if (isEarlier) first = { pair: address, createdAtS }
  }
  return first?.pair
}
