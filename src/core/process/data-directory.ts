const DEFAULT_DATA_DIR = './data'

/** Returns the directory of this process's data: a blank setting counts as missing. */
export function dataDirectory(setting: string | undefined): string {
  return setting === undefined || setting.trim() === '' ? DEFAULT_DATA_DIR : setting
}
