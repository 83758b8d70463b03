/** Finds an endpoint's limits before they are met: one range and one batch as large as we would ever ask for. */
import type { Endpoint } from '../../nodes/endpoint.js'
import { toQuantity } from './hex.js'

/** Nobody's: its logs are none, whatever the range. */
const NOBODY = '0x00000000000000000000000000000000000c0ffe'
const ATTEMPTS = 6

export async function probeLimits(
  endpoint: Endpoint,
  head: number,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  const sending = { ...options, urgent: false }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { limits } = endpoint
    const asked = Math.min(limits.span, head)
    const blocks = { fromBlock: toQuantity(head - asked + 1), toBlock: toQuantity(head) }
    const [outcome] = await endpoint.send(
      [{ method: 'eth_getLogs', params: [{ ...blocks, address: NOBODY }] }],
      sending,
    )
    if (outcome === undefined || outcome.ok || outcome.fault.kind !== 'too_wide' || asked <= 1) break
    const { span, fault } = outcome
    limits.tooWide(asked, fault.limit, span === undefined ? undefined : span.to - span.from + 1)
  }
  const batch = Array.from({ length: endpoint.limits.batch }, () => ({ method: 'eth_chainId', params: [] }))
  await endpoint.send(batch, sending)
}
