/** Prometheus and its checker: of the machine, or from Debian's package, unpacked into the cache. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { USER_CACHE } from '../user-cache.js'

export const promtool = (): string => find('promtool')
export const prometheus = (): string => find('prometheus')

function find(program: 'promtool' | 'prometheus'): string {
  if (spawnSync(program, ['--version']).status === 0) return program
  const folder = join(USER_CACHE, 'prometheus')
  const unpacked = join(folder, 'usr/bin', program)
  if (existsSync(unpacked)) return unpacked
  mkdirSync(folder, { recursive: true })
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  const fetched = run('apt-get', 'download', 'prometheus')
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'))
  if (fetched.status === 0 && archive !== undefined) run('dpkg-deb', '-x', archive, '.')
  if (!existsSync(unpacked)) throw new Error(`${program} is missing: install the package prometheus. ${fetched.stderr}`)
  return unpacked
}
