import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { clientFiles } from '../../schemas/generate.js'

it.each([...clientFiles()])('%s has the declared operations and pushes (to update: npm run generate)', (path, text) => {
  expect(readFileSync(join(repositoryRoot(), path), 'utf8')).toBe(text)
})
