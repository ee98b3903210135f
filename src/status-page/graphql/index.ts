import './context.ts'
import './changes.ts'
