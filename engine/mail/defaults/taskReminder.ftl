Subject: <#if late>Overdue<#else>Reminder</#if>: your task<#if title?has_content>: ${title}</#if>

A task waits for you<#if task?has_content>: ${task}</#if>.
<#if title?has_content>

${title}
${path}
</#if>
<#if base?has_content>

${base}/ui/tasks#${taskId}
</#if>
<#if due?has_content>

Due: ${due}
</#if>
