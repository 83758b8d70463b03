// Completes package-lock.json after `npm install`. If the registry lacks a native package of another platform, npm omits it
// from the lock, and `npm ci` then rejects the lock. This adds an entry for each, so that other platforms can install it, and
// the hash of each package that the registry has.
// Usage: npm install … && node infra/complete-lock.mjs
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const SYSTEMS = ['darwin', 'win32', 'android', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'openharmony', 'linux', 'aix']
const CPUS = ['x64', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'mips64el', 'wasm32', 'arm']

for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const known = `node_modules/${name}` in lock.packages || `${path}/node_modules/${name}` in lock.packages
    const os = SYSTEMS.find((system) => name.includes(system))
    const cpu = CPUS.find((one) => name.includes(one))
    if (known || os === undefined || cpu === undefined || !/^\d/.test(version)) continue
    const libc = name.includes('musl') ? ['musl'] : os === 'linux' && name.includes('gnu') ? ['glibc'] : undefined
    const entry = { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc }), optional: true, os: [os] }
    lock.packages[`node_modules/${name}`] = entry
    console.log(`added ${name}@${version} (${os}, ${cpu})`)
  }
}
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.includes('node_modules/') || entry.link || entry.integrity !== undefined) continue
  const name = path.split('node_modules/').at(-1)
  const integrity = hashOf(`${name}@${entry.version}`)
  if (integrity !== '') entry.integrity = integrity
  console.log(integrity === '' ? `no hash of ${name}: the registry does not have it` : `hash of ${name}`)
}
// The order of npm.
const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
lock.packages = Object.fromEntries(sorted)
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)

/** Empty if the registry does not have the package. */
function hashOf(id) {
  try {
    return execFileSync('npm', ['view', id, 'dist.integrity'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}
