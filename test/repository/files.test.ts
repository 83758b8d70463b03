import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'

const root = repositoryRoot()
const read = (name: string) => readFileSync(join(root, name), 'utf8')

describe('the repository', () => {
  it('runs the test command of the README in CI', () => {
    const command = 'npm ci && npm test'
    expect(read('README.md')).toContain(command)
    expect(read('.ci/run')).toContain(command)
  })

  it('has a licence', () => {
    expect(read('LICENSE')).toContain('Apache License')
  })

  it('has a lock file without registry URLs', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved"/)
  })

  const pages = [
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
    ...['docs', 'docs/decisions'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    ),
    ...readdirSync(join(root, 'services')).map((service) => `services/${service}/README.md`),
    ...readdirSync(join(root, 'clients')).map((client) => `clients/${client}/README.md`),
  ].filter((page) => page.endsWith('.md') && existsSync(join(root, page)))

  it.each(pages)('%s mentions only existing files and pages', (page) => {
    const text = read(page)
    const folder = dirname(page)
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => join(folder, link))
    const named = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)(?:#[\w-]+)?`/g)].map(([, name = '']) => name)
    const inRoot = named.filter((name) => /^(services|test|docs|schemas|examples|infra)\//.test(name))
    const ofService = folder.startsWith('services/') ? named.filter((name) => /\.ts$|\/$/.test(name)) : []
    const here = ofService.filter((name) => !inRoot.includes(name)).map((name) => join(folder, name))
    expect([...links, ...inRoot, ...here].filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it.each(pages)('%s links only to existing headings', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
    const missing = links.filter(([, file = '', heading = '']) => {
      const target = file === '' ? page : join(dirname(page), file)
      return existsSync(join(root, target)) && !headingsOf(target).includes(heading)
    })
    expect(missing.map(([link]) => link)).toEqual([])
  })
})

/** Headings as GitHub anchors. */
function headingsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  return headings.map((heading) => heading.replaceAll(/[^\w -]/g, '').replaceAll(' ', '-'))
}
