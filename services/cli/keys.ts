/** `dextape keys`: API keys. Only their hashes are stored, so a key is printed once, when it is created. */
import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { Option } from 'commander'
import { type Config, describePlan } from '../core/config/index.js'
import type { DataDir } from '../core/data-dir/data-dir.js'
import { DextapeError } from '../core/domain/errors.js'
import { isPlan, PLAN_NAMES, type PlanLimits } from '../core/domain/plans.js'
import { auditOf } from '../core/keys/key-audit.js'
import { type KeyRecord, type KeyStore, keyNamed, monthOf, openKeyStore } from '../core/keys/key-store.js'
import { formatTime } from '../core/runtime/output.js'
import { printable } from '../core/runtime/terminal.js'
import {
  type Cli,
  configOf,
  configOfExistingData,
  createdDir,
  existingDir,
  type GlobalOptions,
  type World,
} from './context.js'
import { openLog } from './open-data.js'
import { invalidOption, parsePositiveNumber } from './option-values.js'

export function addKeys({ program, world, act }: Cli): void {
  const keys = program.command('keys').description('Manage API keys')
  keys
    .command('create')
    .description('Create a key and print it (it cannot be shown again)')
    .requiredOption('--name <name>', 'Who or what the key is for')
    .addOption(
      new Option('--plan <plan>', `Plan, which sets the key's budgets: ${PLAN_NAMES.join(', ')}`).default('unlimited'),
    )
    .addOption(
      new Option(
        '--only <part>',
        'Open only this part: datafeed (charts, see docs/charts.md; may stand in an address)',
      ),
    )
    .option('--expires <when>', 'Expiry: a date (2027-01-31) or a time from now (30d, 12h)')
    .option('--quota <cu>', 'Credit units (CU) per month')
    .option('--rate <count>', 'Requests per second')
    .option('--json', 'Print JSON, including the id')
    .addHelpText(
      'after',
      '\nExamples:\n  dextape keys create --name my-bot --plan pro\n  dextape keys create --name demo --expires 30d --rate 5',
    )
    .action(act<CreateKeyOptions>((options) => createKey(world, options)))
  keys
    .command('ls')
    .description('List keys with their plan, usage and state')
    .option('--json', 'Print JSON lines')
    .action(act<{ json?: boolean }>((options) => listKeys(world, options)))
  keys
    .command('show')
    .description('Show a key with the budgets of its plan')
    .argument('<id>', 'Id or name, as in `keys ls`')
    .option('--json', 'Print JSON')
    .addHelpText('after', '\nExample:\n  dextape keys show my-bot')
    .action(act<{ json?: boolean }>((options, id = '') => showKey(world, id, options)))
  keys
    .command('revoke')
    .description('Revoke a key (takes effect in running servers)')
    .argument('<id>', 'Id or name, as in `keys ls`')
    .addHelpText('after', '\nExample:\n  dextape keys revoke my-bot')
    .action(act((options, id = '') => revokeKey(world, id, options)))
  keys
    .command('rotate')
    .description('Replace a key: print a new one with the same plan and limits; the old one expires after the overlap')
    .argument('<id>', 'Id or name, as in `keys ls`')
    .option('--overlap <time>', 'How long the old key still works: 30d, 12h, 0h', '24h')
    .option('--json', 'Print JSON, including both ids')
    .addHelpText('after', '\nExample:\n  dextape keys rotate my-bot --overlap 2d')
    .action(act<RotateOptions>((options, id = '') => rotateKey(world, id, options)))
  keys
    .command('audit')
    .description('List when keys were created, first used, rotated, expired and revoked, and by whom')
    .option('--json', 'Print JSON lines')
    .action(act<{ json?: boolean }>((options) => printAudit(world, options)))
}

type CreateKeyOptions = GlobalOptions & {
  name: string
  plan: string
  only?: string
  expires?: string
  quota?: string
  rate?: string
  json?: boolean
}

async function createKey(world: World, options: CreateKeyOptions): Promise<void> {
  if (!isPlan(options.plan)) throw invalidOption('--plan', PLAN_NAMES.join(', '), options.plan)
  if (options.only !== undefined && options.only !== 'datafeed') throw invalidOption('--only', 'datafeed', options.only)
  const { ratePerS, quotaCu } = configOf(world, options).plans[options.plan]
  const wanted = {
    name: options.name,
    plan: options.plan,
    ...(options.only === undefined ? {} : { only: 'datafeed' as const }),
    ratePerS: options.rate === undefined ? ratePerS : parsePositiveNumber('--rate', options.rate),
    quotaCu: options.quota === undefined ? quotaCu : parsePositiveNumber('--quota', options.quota),
    ...(options.expires === undefined ? {} : { expiresAtMs: parseExpiry(options.expires, world.nowMs()) }),
  }
  const keys = await openKeys(world, options, createdDir)
  try {
    const { key, record } = await keys.create({ ...wanted, by: whoami() })
    if (options.json) await world.out.json({ key, id: record.id, name: record.name, plan: record.plan })
    else await world.out.line(key)
  } finally {
    await keys.close()
  }
}

async function listKeys(world: World, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const records = keys.list()
    const month = monthOf(world.nowMs())
    if (options.json) {
      for (const record of records) await world.out.json({ ...record, spentCu: keys.spentCu(record.id, month) })
      return
    }
    const { plans } = configOf(world, options)
    await world.out.table(
      [
        ...['id', 'name', 'plan', 'rate/s', 'sockets', 'ids'],
        'quota CU',
        `CU in ${month}`,
        'created',
        'expires',
        'state',
      ],
      records.map((record) => [
        record.id,
        printable(record.name),
        record.only === undefined ? record.plan : `${record.plan}, ${record.only} only`,
        record.ratePerS ?? '–',
        plans[record.plan].sockets ?? '–',
        plans[record.plan].ids ?? '–',
        record.quotaCu ?? '–',
        keys.spentCu(record.id, month),
        formatTime(record.createdAtMs),
        formatTime(record.expiresAtMs),
        stateOf(record, world.nowMs()),
      ]),
    )
  } finally {
    await keys.close()
  }
}

function stateOf({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): 'valid' | 'revoked' | 'expired' {
  if (revokedAtMs !== null) return 'revoked'
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : 'valid'
}

async function showKey(world: World, idOrName: string, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const record = keyNamed(keys.list(), idOrName)
    if (record === undefined) throw keyUnknown(idOrName)
    const month = monthOf(world.nowMs())
    const spentCu = keys.spentCu(record.id, month)
    const budgets = budgetsOf(record, configOf(world, options).plans[record.plan])
    const { id, name, plan, createdAtMs, expiresAtMs } = record
    const state = stateOf(record, world.nowMs())
    if (options.json) return await world.out.json({ id, name, plan, state, createdAtMs, expiresAtMs, spentCu, budgets })
    await world.out.table(
      ['key', printable(name)],
      [
        ...[
          ['id', id],
          ['plan', plan],
          ['opens', record.only ?? 'everything'],
          ['state', state],
          ['created', formatTime(createdAtMs)],
        ],
        ...[
          ['expires', formatTime(expiresAtMs)],
          [`CU in ${month}`, spentCu],
        ],
        ...Object.entries(budgets).map(([budget, limit]) => [budget, limit ?? 'no limit']),
      ],
    )
  } finally {
    await keys.close()
  }
}

/** Its own rate and quota, and the budgets of its plan; null: no limit. */
function budgetsOf({ ratePerS, quotaCu }: KeyRecord, limits: PlanLimits): Record<string, number | null> {
  return describePlan({ ...limits, ratePerS, quotaCu })
}

async function revokeKey(world: World, idOrName: string, options: GlobalOptions): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const revoked = await keys.revoke(idOrName, whoami())
    if (revoked === undefined) throw keyUnknown(idOrName)
    await world.out.line(`revoked ${revoked.id} (${printable(revoked.name)})`)
  } finally {
    await keys.close()
  }
}

type RotateOptions = GlobalOptions & { overlap: string; json?: boolean }

async function rotateKey(world: World, idOrName: string, options: RotateOptions): Promise<void> {
  const overlapMs = parseSpan(options.overlap)
  if (overlapMs === undefined) throw invalidOption('--overlap', 'a time (30d, 12h)', options.overlap)
  const keys = await openKeys(world, options, existingDir)
  try {
    const made = await keys.rotate(idOrName, { overlapMs, by: whoami() })
    if (made === undefined) throw keyUnknown(idOrName)
    const { key, record, old } = made
    if (options.json)
      return await world.out.json({ key, id: record.id, old_id: old.id, old_expires_ms: old.expiresAtMs })
    await world.out.line(key)
    world.stderr.write(`${old.id} works until ${formatTime(old.expiresAtMs)}\n`)
  } finally {
    await keys.close()
  }
}

async function printAudit(world: World, options: GlobalOptions & { json?: boolean }): Promise<void> {
  const keys = await openKeys(world, options, existingDir)
  try {
    const events = auditOf(keys.list(), world.nowMs())
    if (options.json) {
      for (const { atMs, action, keyId, name, by, newKeyId } of events)
        await world.out.json({
          ...{ time: new Date(atMs).toISOString(), action, key_id: keyId, name, by },
          ...(newKeyId === undefined ? {} : { new_key_id: newKeyId }),
        })
      return
    }
    await world.out.table(
      ['time', 'action', 'id', 'name', 'by', 'new id'],
      events.map(({ atMs, action, keyId, name, by, newKeyId }) => [
        ...[formatTime(atMs), action, keyId, printable(name)],
        ...[by === '' ? '–' : printable(by), newKeyId ?? '–'],
      ]),
    )
  } finally {
    await keys.close()
  }
}

/** The user of this machine who runs the command. */
function whoami(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A user id without a name, as in a container.
    return `uid ${process.getuid?.() ?? '?'}@${hostname()}`
  }
}

function keyUnknown(idOrName: string): DextapeError {
  return new DextapeError({
    code: 'key_unknown',
    what: `No unique key with the id or name "${idOrName.startsWith('dx_') ? 'dx_…' : idOrName}"`,
    fix: 'List keys with `dextape keys ls`; use the id where several keys share a name.',
  })
}

/** `30d`, `12h`. */
function parseSpan(text: string): number | undefined {
  const span = /^(\d{1,6})([dh])$/.exec(text)
  return span === null ? undefined : Number(span[1]) * (span[2] === 'd' ? 86_400_000 : 3_600_000)
}

/** A date, or a time from now: `30d`, `12h`. */
function parseExpiry(text: string, nowMs: number): number {
  const spanMs = parseSpan(text)
  const ms = spanMs === undefined ? Date.parse(text) : nowMs + spanMs
  if (!Number.isFinite(ms)) throw invalidOption('--expires', 'a date (2027-01-31) or a time from now (30d, 12h)', text)
  return ms
}

/** A cluster keeps its keys in its log. */
async function openKeys(world: World, options: GlobalOptions, dirOf: (config: Config) => DataDir): Promise<KeyStore> {
  const config = configOfExistingData(world, options)
  if (config.log.kind === 'embedded') return openKeyStore(dirOf(config), world.nowMs)
  const { openSharedKeys } = await import('../core/keys/cluster-keys.js')
  const { log } = await openLog(config, () => dirOf(config))
  const keys = await openSharedKeys(log, { node: randomBytes(8).toString('hex'), nowMs: world.nowMs })
  return {
    ...keys,
    async close() {
      await keys.close()
      await log.close()
    },
  }
}
