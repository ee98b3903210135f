import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Failure } from './command.ts'

/** A service and a key for it, stored to keep the key out of the shell history. */
export interface Profile {
  readonly url: string
  readonly key?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The profile that is used when none is named. */
export const DEFAULT_PROFILE = 'default'

/** Returns the path of the profiles file. */
export function profilesFile(env: Environment): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'allclear', 'profiles.json')
}

/**
 * Reads all profiles, by name.
 * @throws Failure if the file is damaged, or others may read it.
 */
export async function readProfiles(env: Environment): Promise<Record<string, Profile>> {
  const file = profilesFile(env)
  const found = await stat(file).catch(() => null)
  if (found === null) return {}
  if ((found.mode & 0o077) !== 0) {
    throw new Failure(`Other users can read ${file}, which holds keys. Run: chmod 600 ${file}`)
  }
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    throw new Failure(`${file} is not valid JSON. Fix it, or delete it and run “allclear login” again.`)
  }
}

/** Stores a profile in a file that only this user may read. */
export async function writeProfile(env: Environment, name: string, profile: Profile): Promise<void> {
  const file = profilesFile(env)
  const profiles = { ...(await readProfiles(env)), [name]: profile }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  await rename(unfinished, file)
}
