/** Lets a thread run TypeScript: `--import tsx` does nothing there. This file itself must need no loader. */
import { register } from 'tsx/esm/api'

register()
