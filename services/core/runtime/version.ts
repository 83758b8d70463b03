import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'

const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8')) as { version: string }

/** Of the installed package. */
export const VERSION = version
