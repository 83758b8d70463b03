/** `npm ci` checks what it installs: every package of the lock file has a hash, and none comes from another place than the registry. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

type Entry = {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
}

const lock = JSON.parse(readFileSync(join(repositoryRoot(), 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>
}
const packages = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
/** Native builds for other machines that no registry at hand had (infra/complete-lock.mjs): npm checks them where it installs them. */
const isForeign = ({ optional, os, cpu }: Entry) => optional === true && os !== undefined && cpu !== undefined
const pathsOf = (entries: readonly (readonly [string, Entry])[]) => entries.map(([path]) => path)

describe('package-lock.json', () => {
  it('has a SHA-512 of every package, native builds for other machines apart', () => {
    expect(packages.length).toBeGreaterThan(100)
    const unchecked = packages.filter(
      ([, one]) => !/^sha512-[\w+/]{86}==$/.test(one.integrity ?? '') && !isForeign(one),
    )
    expect(pathsOf(unchecked)).toEqual([])
  })

  it('has a hash wherever it names an address', () => {
    const wrong = packages.filter(([, { resolved, integrity }]) => resolved !== undefined && integrity === undefined)
    expect(pathsOf(wrong)).toEqual([])
  })

  it('has an exact version of every package, and none from git, a file or plain HTTP', () => {
    const wrong = packages.filter(
      ([, { version = '', resolved }]) =>
        !/^\d+\.\d+\.\d+/.test(version) || (resolved !== undefined && !resolved.startsWith('https://')),
    )
    expect(pathsOf(wrong)).toEqual([])
  })
})
