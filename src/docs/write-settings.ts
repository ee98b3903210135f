/** `npm run settings` writes the tables of settings to `docs/settings.md`. */
import { readFile, writeFile } from 'node:fs/promises'
import { root } from '../core/process/paths.ts'
import { SETTINGS_MARK, settingsTables } from './settings.ts'

const file = new URL('docs/settings.md', root)
const [before] = (await readFile(file, 'utf8')).split(SETTINGS_MARK)
await writeFile(file, `${before}${SETTINGS_MARK}\n\n${settingsTables()}`)
