/** The text of every source of the services. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../schemas/avro.js'

/** `file`: within `services`. */
export type Source = { file: string; text: string }

export function servicesSources(): Source[] {
  const folder = join(repositoryRoot(), 'services')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
}
