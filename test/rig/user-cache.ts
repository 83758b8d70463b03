import { homedir } from 'node:os'
import { join } from 'node:path'

/** What tests and benchmarks fetch once; infra/kafka has the broker's jars in the same place. */
export const USER_CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dextape')
