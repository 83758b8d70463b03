import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

const root = repositoryRoot()
const read = (name: string) => readFileSync(join(root, name), 'utf8')

describe('the repository', () => {
  it('CI runs the test command the README names', () => {
    const command = 'npm ci && npm test'
    expect(read('README.md')).toContain(command)
    expect(read('.ci/run')).toContain(command)
  })

  it('has its licence and the pages the README points to', () => {
    expect(read('LICENSE')).toContain('Apache License')
    const pages = [...read('README.md').matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, page]) => page ?? '')
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.filter((page) => !existsSync(join(root, page)))).toEqual([])
  })

  it('the lock file names no registry', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved"/)
  })
})
