/**
 * A node whose chain advances only while no request is pending. While mining, anvil answers about one in a hundred requests
 * about its head with the state of the next block (github.com/foundry-rs/foundry/pull/16368), and nothing in the answer shows it.
 */
import { eventsBetweenRequests } from './between-requests.js'
import type { EvmNode } from './node.js'
import { type RunningProxy, startProxy } from './proxy.js'

/** `node`: advances the chain and stops both; `front`: for readers. */
export type StillNode = { node: EvmNode; front: RunningProxy }

export async function startStillNode(node: EvmNode): Promise<StillNode> {
  const pauses = eventsBetweenRequests()
  const front = await startProxy(node, {
    pass: ({ requests, batch }, upstream) =>
      pauses.during(requests.length, async () => {
        const answers = await upstream(requests)
        return { kind: 'answer', body: batch ? answers : answers[0] }
      }),
  })
  const moving = {
    mine: (timeS?: number) => pauses.between(() => node.mine(timeS)),
    revert: (snapshot: string) => pauses.between(() => node.revert(snapshot)),
    stop: async () => {
      await front.stop()
      await node.stop()
    },
  }
  return { node: { ...node, ...moving }, front }
}
