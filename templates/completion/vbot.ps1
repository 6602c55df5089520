# PowerShell completion for vbot
# PowerShell before 7.3 drops empty arguments: two quotes stand for one.
Register-ArgumentCompleter -Native -CommandName 'vbot', 'vbot.exe' -ScriptBlock {
    param($current, $line, $cursor)
    $typed = foreach ($element in $line.CommandElements) {
        if ($element.Extent.EndOffset -lt $cursor) { $element.Extent.Text.Trim('"', "'") }
    }
    $words = @($typed | Select-Object -Skip 1) + $(if ($current) { $current.Trim('"', "'") } else { '""' })
    $option = ''
    if ($current -match '^(--[^=]*=)') { $option = $Matches[1] }
    $vbot = $line.CommandElements[0].Extent.Text.Trim('"', "'")
    & $vbot completion words '--' @words 2>$null | ForEach-Object {
        $word, $about = $_ -split [char]9, 2
        if ($word -eq ':files' -or $word -eq ':dirs') {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($current.Substring($option.Length)) |
                Where-Object { $word -eq ':files' -or $_.ResultType -eq 'ProviderContainer' } |
                ForEach-Object {
                    [System.Management.Automation.CompletionResult]::new($option + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip)
                }
        } else {
            if (-not $about) { $about = $word }
            [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
        }
    }
}
