/** A Geyser endpoint's address, credentials and gRPC options, from its URL and token. */
import { type ChannelCredentials, type ChannelOptions, credentials, Metadata } from '@grpc/grpc-js'
import { ConfigError } from '../../../../core/domain/errors.js'
import type { EndpointName } from '../../nodes/endpoint-name.js'

export type GeyserTarget = {
  /** host:port */
  address: string
  credentials: ChannelCredentials
  metadata: Metadata
  /** Removes the token from an endpoint's message. */
  redact(text: string): string
}

const MEBIBYTE = 1024 * 1024

/**
 * A block may exceed 50 MB. HTTP/2's default window would limit a stream to 64 KB per round trip. Each connection is new: gRPC's own
 * back-off between attempts, up to two minutes, would add to ours.
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
      what: `The URL of the Geyser endpoint ${name} has an unsupported scheme`,
      expected: 'https://host:port, or http:// without TLS',
      got: `${protocol}//`,
    })
  if (pathname.length > 1 || search !== '')
    throw new ConfigError({
      code: 'geyser_url',
      what: `The URL of the Geyser endpoint ${name} has a path or a query`,
      expected: 'https://host:port',
      fix: 'gRPC URLs have no path. If it is the token, pass it as the endpoint’s token.',
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

/** gRPC's own error would contain the token. */
function checkedToken(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new ConfigError({
    code: 'geyser_token',
    what: `The token of the Geyser endpoint ${name} is invalid`,
    expected: 'printable ASCII characters without spaces',
    got: token === '' ? 'an empty token' : 'a token with other characters (hidden)',
  })
}
