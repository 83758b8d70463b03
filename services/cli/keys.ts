/** `dextape keys`: API keys are shown once, when they are made. */
import { randomBytes } from 'node:crypto'
import type { Config } from '../core/config/index.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { ConfigError, DextapeError } from '../core/domain/errors.js'
import { openSharedKeys } from '../core/keys/cluster-keys.js'
import { isPlan, type KeyStore, monthOf, openKeyStore, PLANS } from '../core/keys/key-store.js'
import { formatTime } from '../core/runtime/output.js'
import { configBeside, existingDir, type GlobalOptions, ownDir, type World } from './context.js'
import { openLog } from './open-log.js'

export type CreateKeyOptions = GlobalOptions & {
  name: string
  plan: string
  expires?: string
  quota?: string
  rate?: string
  json?: boolean
}

export async function createKey(world: World, options: CreateKeyOptions): Promise<void> {
  if (!isPlan(options.plan)) throw invalid('--plan', Object.keys(PLANS).join(', '), options.plan)
  const wanted = {
    name: options.name,
    plan: options.plan,
    ...(options.rate === undefined ? {} : { ratePerS: positive('--rate', options.rate) }),
    ...(options.quota === undefined ? {} : { quotaCu: positive('--quota', options.quota) }),
    ...(options.expires === undefined ? {} : { expiresAtMs: expiry(options.expires, world.nowMs()) }),
  }
  const keys = await openKeys(world, options, ownDir)
  try {
    const { key, record } = await keys.create(wanted)
    if (options.json) await world.out.json({ key, id: record.id, name: record.name, plan: record.plan })
    else await world.out.line(key)
  } finally {
    await keys.close()
  }
}

export async function listKeys(world: World, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const records = keys.list()
    const month = monthOf(world.nowMs())
    if (options.json) {
      for (const record of records) await world.out.json({ ...record, spentCu: keys.spentCu(record.id, month) })
      return
    }
    const state = (revokedAtMs: number | null, expiresAtMs: number | null) =>
      revokedAtMs !== null ? 'revoked' : expiresAtMs !== null && expiresAtMs <= world.nowMs() ? 'expired' : 'valid'
    await world.out.table(
      ['id', 'name', 'plan', 'rate/s', 'quota CU', `CU in ${month}`, 'created', 'expires', 'state'],
      records.map((record) => [
        record.id,
        record.name,
        record.plan,
        record.ratePerS ?? '–',
        record.quotaCu ?? '–',
        keys.spentCu(record.id, month),
        formatTime(record.createdAtMs),
        formatTime(record.expiresAtMs),
        state(record.revokedAtMs, record.expiresAtMs),
      ]),
    )
  } finally {
    await keys.close()
  }
}

export async function revokeKey(world: World, idOrName: string, options: GlobalOptions): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const revoked = await keys.revoke(idOrName)
    if (revoked === undefined) {
      throw new DextapeError({
        code: 'key_unknown',
        what: `No single key has the id or name "${idOrName.startsWith('dx_') ? 'dx_…' : idOrName}"`,
        fix: 'See `dextape keys ls`; a name that several keys share needs the id.',
      })
    }
    await world.out.line(`revoked ${revoked.id} (${revoked.name})`)
  } finally {
    await keys.close()
  }
}

function positive(name: string, text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (!(value > 0)) throw invalid(name, 'a number above 0', text)
  return value
}

/** A date, or a span from now: `30d`, `12h`. */
function expiry(text: string, nowMs: number): number {
  const span = /^(\d+)([dh])$/.exec(text)
  const ms = span === null ? Date.parse(text) : nowMs + Number(span[1]) * (span[2] === 'd' ? 86_400_000 : 3_600_000)
  if (!Number.isFinite(ms)) throw invalid('--expires', 'a date (2027-01-31) or a span (30d, 12h)', text)
  return ms
}

function invalid(name: string, expected: string, got: string): ConfigError {
  return new ConfigError({ code: 'option_invalid', what: `${name} is not valid`, expected, got: JSON.stringify(got) })
}

/** Where the log is a cluster's, so are the keys. */
async function openKeys(world: World, options: GlobalOptions, dirOf: (config: Config) => DataDir): Promise<KeyStore> {
  const config = configBeside(world, options)
  if (config.log.kind === 'embedded') return openKeyStore(dirOf(config), world.nowMs)
  const { log } = openLog(config, () => dirOf(config))
  const keys = await openSharedKeys(log, { node: randomBytes(8).toString('hex'), nowMs: world.nowMs })
  return {
    ...keys,
    async close() {
      await keys.close()
      await log.close()
    },
  }
}
