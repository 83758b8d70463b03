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
  const ran: string[] = []
  const pending = known.filter(({ name }) => !done.has(name))
  for (const { name, statements } of pending) {
    onStep(ran.length, pending.length)
    for (const statement of statements) await runner.command(statement)
    await runner.command('INSERT INTO migrations (name) SELECT {name:String}', { name })
    ran.push(name)
  }
  onStep(ran.length, pending.length)
  return ran
}

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
