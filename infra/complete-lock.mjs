// Completes package-lock.json after `npm install`. If the registry lacks a native package of another platform, npm omits it
// from the lock, and `npm ci` then rejects the lock. This adds an entry for each, so that other platforms can install it.
// Usage: npm install … && node infra/complete-lock.mjs
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
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
