module stackagent

go 1.26
