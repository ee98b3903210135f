import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const libraries = '/usr/lib'
const library = existsSync(libraries)
  ? readdirSync(libraries)
      .map((folder) => `${libraries}/${folder}/faketime/libfaketimeMT.so.1`)
      .find(existsSync)
  : undefined

/** Why the clock cannot be faked; null: it can. */
export const clockMissing = library === undefined ? 'faketime is not installed' : null

/** The settings of a process whose clock follows a file; none where the clock cannot be faked. */
export function clockSettings(file: string): NodeJS.ProcessEnv {
  if (library === undefined) return {}
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
  }
}

/** The file is read about once a second. */
const READ_WITHIN = 2500

/** Sets the clock that follows a file ahead of the right time by so many seconds; resolves when it is set. */
export async function setClock(file: string, seconds: number): Promise<void> {
  await writeFile(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`)
  await sleep(READ_WITHIN)
}
