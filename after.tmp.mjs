import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createOutbound } from './src/network/outbound/outbound.ts'
const outbound = createOutbound({ dns: {}, allowPrivate: true })
for (const kind of process.argv.slice(2)) {
 const child=fork('./try.tmp.ts',[kind],{execArgv:['--import','tsx']})
 const [{port}]=await once(child,'message')
 const out=[]
 for(let i=0;i<4;i++){
 let last=performance.now(),max=0;const t=setInterval(()=>{const n=performance.now();max=Math.max(max,n-last);last=n},1)
 const r = await outbound.connect({host:'127.0.0.1',port,tls:{verify:false}},{timeoutMs:10000})
 await new Promise(r=>setTimeout(r,5))
 clearInterval(t)
 r.socket?.destroy()
 out.push(`${max.toFixed(0)} tls ${r.phases.tls} ${r.kind} ${r.message??r.certificate?.problem}`)}
 console.log(kind,out.slice(1).join(' | '))
 child.kill()
}
process.exit()
