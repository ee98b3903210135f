/** Makes a thread run TypeScript, where `--import tsx` has no effect. This file itself must not need a loader. */
import { register } from 'tsx/esm/api'

register()
