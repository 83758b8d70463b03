/** Prometheus' own checker: of the machine, or from Debian's package, unpacked into the cache. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { USER_CACHE } from '../user-cache.js'

export function promtool(): string {
  if (spawnSync('promtool', ['--version']).status === 0) return 'promtool'
  const folder = join(USER_CACHE, 'prometheus')
  const unpacked = join(folder, 'usr/bin/promtool')
  if (existsSync(unpacked)) return unpacked
  mkdirSync(folder, { recursive: true })
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  const fetched = run('apt-get', 'download', 'prometheus')
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'))
  if (fetched.status === 0 && archive !== undefined) run('dpkg-deb', '-x', archive, '.')
  if (!existsSync(unpacked)) throw new Error(`promtool is missing: install the package prometheus. ${fetched.stderr}`)
  return unpacked
}
