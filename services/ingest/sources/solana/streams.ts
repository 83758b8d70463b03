/** What sends blocks by itself: Geyser endpoints, and nodes reached over sockets where they offer it. */
import type { SolanaSourceConfig } from '../../../core/config/solana-source.js'
import { PROGRAMS } from '../../decode/solana/programs.js'
import { endpointNames } from '../nodes/endpoint-name.js'
import { blockNoticesStream } from './rpc/block-notices.js'
import type { BlockStream } from './slot-block.js'

export async function openStreams(config: SolanaSourceConfig): Promise<BlockStream[]> {
  const { chain, commitment, rpcUrls } = config
  const nodeNames = endpointNames(rpcUrls)
  const notices = rpcUrls.flatMap((url, place) =>
    /^wss?:/i.test(url) ? [blockNoticesStream({ chain, url, commitment, name: nodeNames[place] })] : [],
  )
  return [...(await geyserStreams(config)), ...notices]
}

/** Loaded where one is configured: gRPC is large, and every start would wait for it. */
async function geyserStreams({ chain, commitment, geyser, scope }: SolanaSourceConfig): Promise<BlockStream[]> {
  if (geyser.length === 0) return []
  const [{ geyserStream }, { accountsOfInterest }] = await Promise.all([
    import('./geyser/geyser-stream.js'),
    import('./geyser/subscribe-request.js'),
  ])
  const accounts = accountsOfInterest(scope, PROGRAMS)
  const names = endpointNames(geyser.map(({ url }) => url))
  return geyser.map(({ url, token }, place) =>
    geyserStream({ chain, url, token, commitment, accounts, name: names[place] }),
  )
}
