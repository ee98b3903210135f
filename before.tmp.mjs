import tls from 'node:tls'
import { fork } from 'node:child_process'
import { once } from 'node:events'
for (const kind of process.argv.slice(2)) {
 const child=fork('./try.tmp.ts',[kind],{execArgv:['--import','tsx']})
 const [{port}]=await once(child,'message')
 const out=[]
 for(let i=0;i<3;i++){
 let last=performance.now(),max=0;const t=setInterval(()=>{const n=performance.now();max=Math.max(max,n-last);last=n},1)
 const u=process.cpuUsage();let code
 const s=tls.connect({port,host:'127.0.0.1',servername:'localhost',rejectUnauthorized:false})
 await new Promise(r=>{s.on('secureConnect',()=>{const c=s.getPeerCertificate();code=String(s.authorizationError)+' '+new Date(c.valid_to).getTime();r()});s.on('error',e=>{code=e.code;r()})})
 await new Promise(r=>setTimeout(r,5))
 clearInterval(t);const cpu=process.cpuUsage(u)
 out.push(`${max.toFixed(0)}/${((cpu.user+cpu.system)/1000).toFixed(0)} ${code}`)
 s.destroy()}
 console.log(kind,out.slice(1).join(' | '))
 child.kill()
}
process.exit()
