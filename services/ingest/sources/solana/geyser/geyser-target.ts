/** Where a Geyser endpoint is and how it is spoken to, from its URL and token. */
import { type ChannelCredentials, type ChannelOptions, credentials, Metadata } from '@grpc/grpc-js'
import { ConfigError } from '../../../../core/domain/errors.js'
import type { EndpointName } from '../../nodes/endpoint-name.js'

export type GeyserTarget = {
  /** host:port */
  address: string
  credentials: ChannelCredentials
  metadata: Metadata
  /** A stranger's words without the token. */
  redact(text: string): string
}

const MEBIBYTE = 1024 * 1024

/**
 * A block may have 50 MB and more. HTTP/2's own window of 64 KB would hold a stream to that much per round trip. Each connection is new: gRPC's own back-off
 * between attempts, up to two minutes, would come on top of ours.
 */
export const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': 256 * MEBIBYTE,
  'grpc-node.flow_control_window': 16 * MEBIBYTE,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
}

export function geyserTarget(url: string, token: string | undefined, { name, redact }: EndpointName): GeyserTarget {
  const { protocol, hostname, port, pathname, search } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ConfigError({
      code: 'geyser_url',
      what: `the Geyser endpoint ${name} has a URL of another kind`,
      expected: 'https://host:port, or http:// without TLS',
      got: `${protocol}//`,
    })
  if (pathname.length > 1 || search !== '')
    throw new ConfigError({
      code: 'geyser_url',
      what: `the URL of the Geyser endpoint ${name} goes on after its host`,
      expected: 'https://host:port',
      fix: 'gRPC has no path: give what follows the host as the endpoint’s token, if that is what it is.',
    })
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('x-token', checkedToken(token, name))
  return {
    address: `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`,
    credentials: protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure(),
    metadata,
    redact: (text) => redact(token === undefined ? text : text.replaceAll(token, '(hidden)')),
  }
}

/** gRPC's own error about it would show the token. */
function checkedToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new ConfigError({
    code: 'geyser_token',
    what: `the token of the Geyser endpoint ${name} is none`,
    expected: 'letters, digits and signs without spaces',
    got: token === '' ? 'an empty one' : 'one with other characters (not shown)',
  })
}
