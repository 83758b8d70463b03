/** What sends blocks by itself: Geyser endpoints, and nodes reached over sockets where they offer it. */
import type { SolanaSourceConfig } from '../../../core/config/solana-source.js'
import { PROGRAMS } from '../../decode/solana/programs.js'
import { endpointNames } from '../nodes/endpoint-name.js'
import { geyserStream } from './geyser/geyser-stream.js'
import { accountsOfInterest } from './geyser/subscribe-request.js'
import { blockNoticesStream } from './rpc/block-notices.js'
import type { BlockStream } from './slot-block.js'

export function openStreams({ chain, commitment, geyser, rpcUrls, scope }: SolanaSourceConfig): BlockStream[] {
  const accounts = accountsOfInterest(scope, PROGRAMS)
  const geyserNames = endpointNames(geyser.map(({ url }) => url))
  const nodeNames = endpointNames(rpcUrls)
  return [
    ...geyser.map(({ url, token }, place) =>
      geyserStream({ chain, url, token, commitment, accounts, name: geyserNames[place] }),
    ),
    ...rpcUrls.flatMap((url, place) =>
      /^wss?:/i.test(url) ? [blockNoticesStream({ chain, url, commitment, name: nodeNames[place] })] : [],
    ),
  ]
}
