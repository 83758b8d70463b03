/** Runs schemas/clickhouse/NNNN_name.sql in order, once each. Every file can be repeated, so a crash does no harm. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../domain/errors.js'

export type Migration = { name: string; statements: string[] }

export type MigrationRunner = {
  command: (sql: string, params?: Record<string, unknown>) => Promise<void>
  query: <Row>(sql: string) => Promise<Row[]>
}

const RECORD = `CREATE TABLE IF NOT EXISTS migrations (name String, done_at DateTime('UTC') DEFAULT now())
  ENGINE = ReplacingMergeTree ORDER BY name`

export async function migrate(
  runner: MigrationRunner,
  onStep: (done: number, pending: number) => void = () => {},
  known = readMigrations(),
): Promise<string[]> {
  await runner.command(RECORD)
  const rows = await runner.query<{ name: string }>('SELECT DISTINCT name FROM migrations ORDER BY name')
  const done = new Set(rows.map(({ name }) => name))
  const names = new Set(known.map(({ name }) => name))
  const newer = [...done].filter((name) => !names.has(name))
  if (newer.length > 0)
    throw new ConfigError({
      code: 'store_newer',
      what: 'The store was created by a newer version of this program',
      expected: `nothing after ${known.at(-1)?.name ?? 'no migration'}`,
      got: newer.join(', '),
      fix: 'Update the program, or use another database or data directory',
    })
  const isNew = done.size === 0 && !(await hasTables(runner))
  const pending = known.filter(({ name }) => !done.has(name))
  for (const [at, { name, statements }] of (isNew ? forNewStore(pending) : pending).entries()) {
    onStep(at, pending.length)
    for (const statement of statements) await runner.command(statement)
    if (!isNew) await record(runner, [name])
  }
  const ran = pending.map(({ name }) => name)
  if (isNew) await record(runner, ran)
  onStep(ran.length, pending.length)
  return ran
}

async function record(runner: MigrationRunner, names: readonly string[]): Promise<void> {
  if (names.length > 0)
    await runner.command('INSERT INTO migrations (name) SELECT arrayJoin({names:Array(String)})', { names })
}

/** Besides the record. */
async function hasTables({ query }: MigrationRunner): Promise<boolean> {
  const tables = await query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name != 'migrations' LIMIT 1",
  )
  return tables.length > 0
}

/** Without views that a later file replaces, and without copies of what was stored before: there is nothing. */
function forNewStore(migrations: readonly Migration[]): Migration[] {
  const last = new Map(migrations.flatMap(({ statements }) => statements.map((text) => [viewOf(text), text])))
  const isNeeded = (text: string) => {
    const view = viewOf(text)
    return !text.startsWith('INSERT INTO ') && (view === undefined || last.get(view) === text)
  }
  return migrations.map(({ name, statements }) => ({ name, statements: statements.filter(isNeeded) }))
}

const viewOf = (statement: string): string | undefined => /^CREATE OR REPLACE VIEW (\w+)/.exec(statement)?.[1]

export function readMigrations(directory = migrationsDirectory()): Migration[] {
  const files = readdirSync(directory).filter((file) => /^\d{4}_\w+\.sql$/.test(file))
  return files.sort().map((file) => ({
    name: file.slice(0, -'.sql'.length),
    statements: statementsOf(readFileSync(join(directory, file), 'utf8')),
  }))
}

/** A statement ends with a semicolon at a line's end. */
function statementsOf(text: string): string[] {
  const withoutComments = text.replace(/^--.*$/gm, '')
  return withoutComments.split(/;\s*$/m).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

/** SQL files are not compiled: sources and dist/ use the same folder of the checkout. */
function migrationsDirectory(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const found = join(at, 'schemas', 'clickhouse')
    if (existsSync(join(found, '0001_events.sql'))) return found
    if (dirname(at) === at)
      throw new ConfigError({
        code: 'store_migrations_missing',
        what: 'The migrations (schemas/clickhouse) are missing',
        fix: 'Run the program from a complete checkout, package or image',
      })
  }
}
