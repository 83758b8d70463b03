/** Users, passwords and certificates for Kafka, ClickHouse and the registry: in the configuration, or in files beside it. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Absolute paths of PEM files. Without `ca`: the authorities of the system. `cert` and `key` identify this client. */
export type ClientTls = { ca?: string; cert?: string; key?: string }

export type SaslChoice =
  | { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
  /** The file has a token; it is read at each connection, so that another program can renew it. */
  | { mechanism: 'oauthbearer'; tokenFile: string }

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const

export type SaslSection = {
  mechanism: (typeof SASL_MECHANISMS)[number]
  username?: string
  password?: string
  password_file?: string
  token_file?: string
}

/** Where problems go, and what relative paths are relative to. */
export type Reading = { cwd: string; problems: string[] }

/** A secret itself, or the first line of a file. Neither is in a message. */
export function secretOf(
  name: string,
  { value, file }: { value?: string | undefined; file?: string | undefined },
  { cwd, problems }: Reading,
): string | undefined {
  if (value !== undefined && file !== undefined) problems.push(`set ${name} or ${name}_file, not both`)
  if (value !== undefined || file === undefined) return value
  try {
    const line = readFileSync(resolve(cwd, file), 'utf8').split('\n', 1)[0]?.trim() ?? ''
    if (line !== '') return line
    problems.push(`${name}_file ${file} is empty`)
  } catch (cause) {
    problems.push(`cannot read ${name}_file ${file}: ${(cause as NodeJS.ErrnoException).code}`)
  }
  return undefined
}

export function clientTls(name: string, given: ClientTls | undefined, { cwd, problems }: Reading): ClientTls {
  if ((given?.cert === undefined) !== (given?.key === undefined))
    problems.push(`${name}.cert and ${name}.key must be set together`)
  const paths = Object.entries(given ?? {}).map(([part, file]) => [part, resolve(cwd, file)])
  return Object.fromEntries(paths) as ClientTls
}

export function saslChoice(sasl: SaslSection | undefined, reading: Reading): SaslChoice | undefined {
  if (sasl === undefined) return undefined
  const { problems, cwd } = reading
  const { mechanism, username, token_file: tokenFile } = sasl
  if (mechanism === 'oauthbearer') {
    if (tokenFile === undefined)
      problems.push('kafka.sasl.token_file (KAFKA_SASL_TOKEN_FILE) is required for oauthbearer')
    if (username !== undefined || sasl.password !== undefined || sasl.password_file !== undefined)
      problems.push('kafka.sasl: oauthbearer takes token_file alone')
    return { mechanism, tokenFile: resolve(cwd, tokenFile ?? '') }
  }
  if (tokenFile !== undefined) problems.push(`kafka.sasl.token_file is for oauthbearer, not for ${mechanism}`)
  const password = secretOf('kafka.sasl.password', { value: sasl.password, file: sasl.password_file }, reading)
  if (username === undefined) problems.push(`kafka.sasl.username (KAFKA_SASL_USERNAME) is required for ${mechanism}`)
  if (password === undefined && sasl.password_file === undefined)
    problems.push(`kafka.sasl.password (KAFKA_SASL_PASSWORD) is required for ${mechanism}`)
  return { mechanism, username: username ?? '', password: password ?? '' }
}

/** The URL with a user and password that are configured beside it. */
export function withUser(url: string, user: string | undefined, password: string | undefined): string {
  if (user === undefined || !URL.canParse(url)) return url
  const given = new URL(url)
  given.username = encodeURIComponent(user)
  given.password = encodeURIComponent(password ?? '')
  return given.href
}
