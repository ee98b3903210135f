/** Lets a worker thread run TypeScript. `--import tsx` does nothing there, and this file itself must need no loader. */
import { register } from 'tsx/esm/api'

register()
